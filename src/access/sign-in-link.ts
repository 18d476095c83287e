/** The secret stands behind `#`: browsers send that part to nobody, so it is in no log. */
export const signInLink = (url: string, secret: string): string => `${url}/sign-in#${secret}`;
