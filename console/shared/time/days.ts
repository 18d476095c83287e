/** Days as fields for dates have them, 2027-03-01, by the reader's own clock. */

export const dayOf = (at: Date): string => at.toLocaleDateString("sv-SE");

/** The last second of the day; NaN for what is none. */
export const endOfDay = (day: string): number => new Date(`${day}T23:59:59`).getTime();

/** What ends when a day begins has the day before as its last. */
export const lastMoment = (end: string): Date => new Date(Date.parse(end) - 1);
