/** Stands above links: nobody's browser knows the authority that moor made for itself. */
export const browserWarning = (caFile: string): string =>
  `The browser will warn of the certificate, which comes from moor's own authority, ${caFile}: import that file there, or go on.\n`;
