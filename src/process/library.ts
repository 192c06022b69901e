/** Functions of the C library, for what the runtime has no interface for. */

/** Names of the library: those of glibc and of musl. */
const NAMES = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

const FUNCTIONS = {
  setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  sendto: { args: ["i32", "ptr", "usize", "i32", "ptr", "u32"], returns: "i64" },
  close: { args: ["i32"], returns: "i32" },
  dup2: { args: ["i32", "i32"], returns: "i32" },
} as const;

/** @param use gets the functions, and one that gives the address of bytes @throws Error with one sentence where there is no library */
export async function withLibrary<Value>(
  use: (functions: Awaited<ReturnType<typeof open>>["symbols"], ptr: typeof import("bun:ffi").ptr) => Value,
): Promise<Value> {
  const [opened, { ptr }] = await Promise.all([open(), import("bun:ffi")]);
  try {
    return use(opened.symbols, ptr);
  } finally {
    opened.close();
  }
}

async function open() {
  const { dlopen } = await import("bun:ffi");
  for (const name of NAMES)
    try {
      return dlopen(name, FUNCTIONS);
    } catch {
      // The other one may be there.
    }
  throw new Error("the C library cannot be loaded");
}
