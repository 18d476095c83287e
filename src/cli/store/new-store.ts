/** Warns about a mistyped folder: the running service would use another one. */
export const newStore = (data: string): string =>
  `There was no store in ${data}, so a new one was created. If a service is running, give its folder with --data.\n`;
