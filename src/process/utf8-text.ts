/** Editors on Windows start a text with an invisible byte order mark. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "");

/** What editors and shells of Windows call Unicode; read as UTF-8 it has a NUL beside every letter. */
export const isUtf16 = (text: string): boolean => text.includes("\0");
