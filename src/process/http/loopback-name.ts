/** A page in a browser can reach a port of this machine under a name of its own making; under these names only we can be meant. */
export const isLoopbackName = (host = ""): boolean => /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
