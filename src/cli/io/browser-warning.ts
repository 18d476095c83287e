/** Stands below links: nobody's browser knows the authority that moor made for itself. */
export const browserWarning = (caFile: string): string =>
  `The browser will warn of the certificate: it comes from moor's own authority, ${caFile}. Import that file there, or go on.\n`;
