/** Which stop sequences a provider gets, and which weir watches for itself. */
export interface StopPlan {
  sent: string[];
  /** weir searches the answer for these. */
  watched: string[];
}

/** Splits the sequences; empty ones mean nothing. @param most the number that the provider takes */
export function splitStop(stop: readonly string[], most: number): StopPlan {
  const sequences = stop.filter((sequence) => sequence !== "");
  return { sent: sequences.slice(0, most), watched: sequences.slice(most) };
}
