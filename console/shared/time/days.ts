/** Days as in date fields, 2027-03-01, in the reader's time zone. */

export const dayOf = (at: Date): string => at.toLocaleDateString("sv-SE");

/** The last second of the day; NaN if the text is not a day. */
export const endOfDay = (day: string): number => new Date(`${day}T23:59:59`).getTime();

/** If something ends at the beginning of a day, its last day is the one before. */
export const lastMoment = (end: string): Date => new Date(Date.parse(end) - 1);
