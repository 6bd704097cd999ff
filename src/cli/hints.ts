import type { ErrorCode } from '../core/errors.ts';

/** What to do next, by error code: the second thing a person wants to know. */
export const HINTS: Readonly<Record<ErrorCode, string>> = {
  ERR_PARAMS: 'run the command with --help to see what it takes',
  ERR_FORMAT: 'check that each option names the file it asks for and that the file is whole',
  ERR_FILE: 'check the path and its permissions',
  ERR_KEY_UNKNOWN:
    'import the key (`proofline keys import`), make one (`proofline setup`), or check its name',
  ERR_KEY_DAMAGED:
    '`proofline keys verify` says where; `proofline keys import` of a whole file replaces it',
  ERR_PAYLOAD_UNKNOWN: 'upload the witness again: unused payloads are removed after a while',
  ERR_PAYLOAD_CORRUPT: 'upload the witness again, and check the disk of the service',
  ERR_IDEMPOTENCY: 'use a new idempotency key for a new request',
  ERR_DEADLINE: 'allow more time, or raise the priority of the job',
  ERR_QUARANTINED: 'prove it on another backend; if it crashes there too, report the circuit',
  ERR_STORE: 'see the message; `proofline doctor` checks the data folder',
  ERR_STORAGE: 'free some space or mend the permissions of the data folder, then try again',
  ERR_TOO_LARGE: 'check that this is the file you mean; PROOFLINE_UPLOAD_LIMIT bounds uploads',
  ERR_JOB_UNKNOWN:
    'check the id; the service forgets settled jobs after a while (PROOFLINE_JOBS_KEPT_FOR)',
  ERR_JOB_STATE: 'ask for the state of the job and try again once it has settled',
  ERR_FORBIDDEN: 'use the address that the service printed when it started',
  ERR_UNAUTHORIZED:
    'pass a token of the service by PROOFLINE_TOKEN; `proofline token create` makes one',
  ERR_SCOPE: 'use a token of that scope; `proofline token create --scope` makes one',
  ERR_RATE_LIMITED: 'wait as long as the message says, then try again',
  ERR_MEDIA_TYPE: 'send the content type that the message names',
  ERR_ROUTE_UNKNOWN: 'check that --server is the address of a proofline service of this version',
  ERR_WITNESS_UNSATISFIED:
    'run again with --r1cs to name the first constraint that fails, or recompute the witness',
  ERR_CONSTRAINT_UNSATISFIED:
    'recompute the witness with the wasm of the same build of the circuit',
  ERR_WITNESS_CALCULATION: 'check the names and values in the input file against the circuit',
  ERR_DEVICE_OUT_OF_MEMORY: 'wait for other work on the device, or choose another --backend',
  ERR_BACKEND_UNAVAILABLE: 'run `proofline doctor`, or leave out --backend to take what works',
  ERR_BACKEND_FAULT: 'prove with another --backend and check the device for faults',
  ERR_HOST_CRASHED: 'run `proofline doctor`; if memory is short, free some and try again',
  ERR_CANCELLED: 'nothing was written; run the command again to start over',
  ERR_QUEUE_FULL: 'wait as long as the message says, then try again',
  ERR_SHUTTING_DOWN: 'wait until the service is up again, then try again',
  ERR_LISTEN: 'stop what uses the address, or choose another with --listen or PROOFLINE_LISTEN',
  ERR_UNREACHABLE:
    'check that the service runs (`proofline serve`) and that --server is its address',
  ERR_INTERNAL: 'this is a defect of proofline: report the command, the version and this message',
};
