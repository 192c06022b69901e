/** Memory of bytes that nothing reads any more. */

/** Smaller ones may be parts of a pool, and cost little. Bytes. */
const LEAST = 16 * 1024;

/**
 * Gives the memory of a piece back at once. The runtime collects it late, as it weighs objects and not the bytes behind them: a
 * transfer of many pieces would hold far more than it uses. The piece is empty afterwards, for all who have it.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < LEAST || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  buffer.transfer(0);
}
