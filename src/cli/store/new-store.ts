/** For whoever meant the folder of a service that runs. */
export const newStore = (data: string): string =>
  `There was no store in ${data}: a new one was made there. If a service runs already, name its own with --data.\n`;
