/** A web page can reach a local port under any name that resolves here (DNS rebinding); these names are safe. */
export const isLoopbackName = (host = ""): boolean => /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
