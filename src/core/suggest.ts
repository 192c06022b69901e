/** The candidate that is most similar to a mistyped word; undefined when none is similar. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const meant = simplify(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(meant.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(meant, simplify(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `, did you mean X?` for the end of a sentence; empty when no candidate is similar. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const candidate = suggest(word, candidates);
  return candidate === undefined ? "" : `, did you mean ${candidate}?`;
}

/** Ignores case, dashes and underscores. */
function simplify(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, "");
}

/** The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const choices = [
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
      ];
      if (swapped) choices.push((before[column - 2] ?? 0) + 1);
      current.push(Math.min(...choices));
    }
    [before, above] = [above, current];
  }
  return above[to.length] ?? 0;
}
