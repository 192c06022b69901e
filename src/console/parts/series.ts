/** Colours of series: a name has the same one on every page. */

const COLOURS = 6;

/** 1 to 6 for each name. Of two of these names that would have the same colour, the later one moves to a free one. */
export function coloursOf(names: readonly string[]): number[] {
  const taken = new Set<number>();
  return names.map((name) => {
    const own = hash(name) % COLOURS;
    const free = Array.from({ length: COLOURS }, (_, step) => (own + step) % COLOURS).find(
      (one) => !taken.has(one),
    );
    const colour = free ?? own;
    taken.add(colour);
    return colour + 1;
  });
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return value;
}
