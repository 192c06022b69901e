/** Programs of the system's packet filter (BPF), as `setsockopt` takes them. Linux only. */

/** Operation and value, and for a comparison how many instructions it skips if it holds, and if not. */
export type Instruction = readonly [code: number, value: number, yes?: number, no?: number];

/** @returns `struct sock_fprog`, and the program to which it points: it must live as long as the call */
export async function packetFilter(
  list: readonly Instruction[],
): Promise<{ readonly head: Uint8Array; readonly program: Uint8Array }> {
  const { ptr } = await import("bun:ffi");
  const view = new DataView(new ArrayBuffer(list.length * 8));
  for (const [index, [code, value, yes = 0, no = 0]] of list.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, yes);
    view.setUint8(index * 8 + 3, no);
    view.setUint32(index * 8 + 4, value, true);
  }
  const program = new Uint8Array(view.buffer);
  const head = new DataView(new ArrayBuffer(16));
  head.setUint16(0, list.length, true);
  head.setBigUint64(8, BigInt(ptr(program)), true);
  return { head: new Uint8Array(head.buffer), program };
}
