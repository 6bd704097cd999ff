/** JSON texts of `size` bytes or a little less, each large in another way once it is parsed. */
export function bombs(size: number): Uint8Array[] {
  const fill = (from: string, part: string, to: string) =>
    from + part.repeat(Math.floor((size - from.length - to.length) / part.length)) + to;
  const texts = [
    fill('', '[', ''),
    fill('{"x":[', '[],', '1]}'),
    fill('{"x":[', '1,', '1]}'),
    fill('{"x":[', '"ab",', '1]}'),
    fill('{', '"":1,', '"x":1}'),
    fill('{"x":"', '1', '"}'),
    fill('{"x":"', '\\"', '"}'),
    fill('{"x":"', '\u0101', '"}').slice(0, -size / 2),
    fill('', ' ', '1'),
  ];
  return texts.map((text) => new TextEncoder().encode(text).subarray(0, size));
}
