/**
 * Public inputs of a circuit, the constant 1 included. Each costs a check of a point whenever a key
 * is opened. The largest in use is Filecoin's WindowPoSt of 32 GiB sectors: 25,840.
 */
export const INPUTS_MAX = 65_536;
