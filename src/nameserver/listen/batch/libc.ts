/**
 * The functions of the C library and of libuv that datagrams need, called through `node:ffi`. Two rules for callers:
 * every pointer is into memory that `mmap` gave, never into memory of JavaScript, which the garbage collector may move
 * or free while the kernel writes to it; and nothing native is given a function to call.
 */
export type Libc = {
  readonly mmap: (at: bigint, size: bigint, access: number, kind: number, fd: number, from: bigint) => bigint;
  readonly socket: (family: number, kind: number, protocol: number) => number;
  readonly setsockopt: (fd: number, level: number, option: number, value: bigint, size: number) => number;
  readonly bind: (fd: number, address: bigint, size: number) => number;
  readonly getsockname: (fd: number, address: bigint, size: bigint) => number;
  readonly close: (fd: number) => number;
  readonly poll: (fds: bigint, count: bigint, timeout: number) => number;
  readonly recvmmsg: (fd: number, headers: bigint, count: number, flags: number, timeout: bigint) => number;
  readonly sendmmsg: (fd: number, headers: bigint, count: number, flags: number) => number;
  readonly if_nametoindex: (name: bigint) => number;
  /** The number of the last error of this thread. */
  readonly errno: () => number;
  readonly memoryAt: (at: bigint, size: number) => ArrayBuffer;
  /** A file descriptor that is readable when the event loop of this thread has something to do. */
  readonly loop: number;
};

const signatures = {
  mmap: [["pointer", "u64", "i32", "i32", "i32", "i64"], "pointer"],
  socket: [["i32", "i32", "i32"], "i32"],
  setsockopt: [["i32", "i32", "i32", "pointer", "u32"], "i32"],
  bind: [["i32", "pointer", "u32"], "i32"],
  getsockname: [["i32", "pointer", "pointer"], "i32"],
  close: [["i32"], "i32"],
  poll: [["pointer", "u64", "i32"], "i32"],
  recvmmsg: [["i32", "pointer", "u32", "i32", "pointer"], "i32"],
  sendmmsg: [["i32", "pointer", "u32", "i32"], "i32"],
  if_nametoindex: [["pointer"], "u32"],
  __errno_location: [[], "pointer"],
} as const;

/** `node:ffi` of Node 26.10, as far as it is used here: the types of an older Node do not have it. */
type Ffi = {
  readonly dlopen: (
    library: string | null,
    functions: Readonly<Record<string, { readonly arguments: readonly string[]; readonly return: string }>>,
  ) => { readonly functions: unknown };
  readonly toArrayBuffer: (at: bigint, size: number, copy: boolean) => ArrayBuffer;
  readonly getInt32: (at: bigint) => number;
  readonly getCurrentEventLoop: () => bigint;
};

/**
 * Throws, and says why, where these functions cannot be called: the structures are those of 64-bit Linux with glibc.
 */
export function loadLibc(): Libc {
  if (process.platform !== "linux") throw new Error("only Linux sends and receives several datagrams at a time");
  if (process.arch !== "x64" && process.arch !== "arm64") throw new Error(`this processor is ${process.arch}`);
  const ffi = loadFfi();
  const described = Object.entries(signatures).map(([name, [args, result]]) => [
    name,
    { arguments: args, return: result },
  ]);
  // musl's library has another name.
  const libc = ffi.dlopen("libc.so.6", Object.fromEntries(described) as Parameters<Ffi["dlopen"]>[1]).functions;
  const functions = libc as Omit<Libc, "errno" | "memoryAt" | "loop"> & { readonly __errno_location: () => bigint };
  const uv = ffi.dlopen(null, { uv_backend_fd: { arguments: ["pointer"], return: "i32" } }).functions;
  const { uv_backend_fd } = uv as { readonly uv_backend_fd: (loop: bigint) => number };
  return {
    ...functions,
    errno: () => ffi.getInt32(functions.__errno_location()),
    memoryAt: (at, size) => ffi.toArrayBuffer(at, size, false),
    loop: uv_backend_fd(ffi.getCurrentEventLoop()),
  };
}

/** Node warns that the module is experimental. moor comes with the Node that it was tested with. */
function loadFfi(): Ffi {
  const warn = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    const ffi: unknown = process.getBuiltinModule("node:ffi");
    if (ffi === undefined) throw new Error("this Node has no node:ffi");
    return ffi as Ffi;
  } finally {
    process.emitWarning = warn;
  }
}
