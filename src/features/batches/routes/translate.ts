/** Answers of lines in the format of another vendor. */
import type { Translate } from "../shapes/results.ts";

export async function translator(): Promise<Translate> {
  return () => undefined;
}
