/** Days as fields for dates have them, 2027-03-01, by the reader's own clock. */

export const dayOf = (at: string): string => new Date(at).toLocaleDateString("sv-SE");

/** The last second of the day; NaN for what is none. */
export const endOfDay = (day: string): number => new Date(`${day}T23:59:59`).getTime();
