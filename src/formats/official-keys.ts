import type { CircuitKind } from '../circuits/filecoin/circuits.ts';
import type { SectorSize } from '../circuits/filecoin/sector-size.ts';

/**
 * The parameter files of Filecoin's v28 ceremony. Names, digests and sector sizes: rust-fil-proofs'
 * `parameters.json`; sizes follow from the circuits. The digest is the first 16 bytes of the
 * file's BLAKE2b-512, hex.
 */
export interface OfficialKey {
  readonly circuit: CircuitKind;
  readonly sectorSize: SectorSize;
  readonly blake2b: string;
  /** Of the `.vk` file. */
  readonly verifyingKeyBlake2b: string;
  readonly bytes: number;
}

/**
 * Circuit, sector size, SHA-256 of the circuit's identifier (in the file's name), digests of
 * parameters and verifying key, size of the parameters.
 */
const TABLE = [
  [
    'porep',
    '2KiB',
    '032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f',
    '434fb1338ecfaf0f59256f30dde4968f',
    'dc1ade9929ade1708238f155343044ac',
    1114707768,
  ],
  [
    'winning-post',
    '2KiB',
    '3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e',
    '82c88066be968bb550a05e30ff6c2413',
    'ffd79788d614d27919ae5bd2d94eacb6',
    47299128,
  ],
  [
    'window-post',
    '2KiB',
    '0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0',
    '7610b9f82bfc88405b7a832b651ce2f6',
    '0e0958009936b9d5e515ec97b8cb792d',
    11501496,
  ],
  [
    'snap-deals',
    '2KiB',
    'fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194',
    '311f92a3e75036ced01b1c0025f1fa0c',
    'eadad9784969890d30f2749708c79771',
    655789464,
  ],
  [
    'porep',
    '8MiB',
    'ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb',
    '09e612e4eeb7a0eb95679a88404f960c',
    'b687beb9adbd9dabe265a7e3620813e4',
    1429027896,
  ],
  [
    'winning-post',
    '8MiB',
    '50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331',
    '700171ecf7334e3199437c930676af82',
    '79ebb55f56fda427743e35053edad8fc',
    113383224,
  ],
  [
    'window-post',
    '8MiB',
    '5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9',
    'c49499bb76a0762884896f9683403f55',
    '34d4feeacd9abf788d69ef1bb4d8fd00',
    30859704,
  ],
  [
    'snap-deals',
    '8MiB',
    '92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63',
    '5aedd2cf3e5c0a15623d56a1b43110ad',
    'abd80269054d391a734febdac0d2e687',
    4268165208,
  ],
  [
    'porep',
    '512MiB',
    '6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472',
    '6c77597eb91ab936c1cef4cf19eba1b3',
    '065179da19fbe515507267677f02823e',
    1988841144,
  ],
  [
    'winning-post',
    '512MiB',
    '7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781',
    '827359440349fe8f5a016e7598993b79',
    'bd2cd62f65c1ab84f19ca27e97b7c731',
    165299640,
  ],
  [
    'window-post',
    '512MiB',
    '0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9',
    '1a7d4a9c8a502a497ed92a54366af33f',
    '4dae975de4f011f101f5a2f86d1daaba',
    45257400,
  ],
  [
    'snap-deals',
    '512MiB',
    '61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c',
    'c3ad7bb549470b82ad52ed070aebb4f4',
    '994c5b7d450ca9da348c910689f2dc7f',
    21741422712,
  ],
  [
    'porep',
    '32GiB',
    '82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820',
    '6a388072a518cf46ebd661f5cc46900a',
    '0c7b4aac1c40fdb7eb82bc355b41addf',
    47373928632,
  ],
  [
    'winning-post',
    '32GiB',
    '559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e',
    'd84f79a16fe40e9e25a36e2107bb1ba0',
    'fc02943678dd119e69e7fab8420e8819',
    192050232,
  ],
  [
    'window-post',
    '32GiB',
    '0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc',
    '2cf49eb26f1fee94c85781a390ddb4c8',
    '0f8ec542485568fa3468c066e9fed82b',
    60780374232,
  ],
  [
    'snap-deals',
    '32GiB',
    '3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18',
    '1b3cfd761a961543f9eb273e435a06a2',
    '3a6941983754737fde880d29c7094905',
    34453501368,
  ],
  [
    'porep',
    '64GiB',
    '96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2',
    '1801f8a6e1b00bceb00cc27314bb5ce3',
    'a89884252c04c298d0b3c81bfd884164',
    47624967288,
  ],
  [
    'winning-post',
    '64GiB',
    'b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c',
    '2170a91ad5bae22ea61f2ea766630322',
    '6d3789148fb6466d07ee1e24d6292fd6',
    200014584,
  ],
  [
    'window-post',
    '64GiB',
    '2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def',
    '3810b7780ac0e299b22ae70f1f94c9bc',
    '59d2bf1857adc59a4f08fcf2afaa916b',
    62556733560,
  ],
  [
    'snap-deals',
    '64GiB',
    '102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7',
    '1a392e7b759fb18e036c7559b5ece816',
    '80e366df2f1011953c2d01c7b7c9ee8e',
    35507495352,
  ],
] as const;

const KEYS = TABLE.map(
  ([circuit, sectorSize, identifier, blake2b, verifyingKeyBlake2b, bytes]) => ({
    key: { circuit, sectorSize, blake2b, verifyingKeyBlake2b, bytes } satisfies OfficialKey,
    identifier,
  }),
);

/** The official file of that name, whatever its content. */
export function officialByName(fileName: string): OfficialKey | undefined {
  const wanted = /^v28-[a-z0-9_-]+-([0-9a-f]{64})\.params$/.exec(fileName)?.[1];
  return KEYS.find(({ identifier }) => identifier === wanted)?.key;
}

/** The official file of that content, whatever its name. */
export function officialByDigest(blake2b: string): OfficialKey | undefined {
  return KEYS.find(({ key }) => key.blake2b === blake2b)?.key;
}

/** The key whose official `.vk` file has that content. */
export function officialByVerifyingKey(blake2b: string): OfficialKey | undefined {
  return KEYS.find(({ key }) => key.verifyingKeyBlake2b === blake2b)?.key;
}

/** The circuit of parameters of that size: no two circuits of the table share one. */
export function officialBySize(bytes: number): OfficialKey | undefined {
  return KEYS.find(({ key }) => key.bytes === bytes)?.key;
}
