/** One table of figures. `rows` are printed verbatim; `how` is the command that measured them. */
export type Table = {
  readonly title: string;
  readonly how: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
};
