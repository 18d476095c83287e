/** Editors on Windows start a text with an invisible byte order mark. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "");

/** Windows editors and shells call UTF-16 "Unicode". Read as UTF-8, it has a NUL next to every letter. */
export const isUtf16 = (text: string): boolean => text.includes("\0");
