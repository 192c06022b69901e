/** The status in the frame: the proof of the books, and what is wrong on a page. */
import { signal } from "./signal.ts";
import { get, signedOut } from "./api.ts";
import type { Proof } from "./types.ts";

export interface BooksProof {
  holds: boolean;
  /** Milliseconds since 1970. */
  at: number;
  /** The sentence of the first check that does not hold. */
  fault?: string;
}

/** The newest proof of the books; undefined before the first, or if the key may not see it. */
export const proof = signal<BooksProof | undefined>(undefined);

/** A word beside a page of the navigation, by its path: `1 empty`. Pages and notes set it. */
export const troubles = signal<Readonly<Record<string, string>>>({});

export function setTrouble(path: string, word: string | undefined): void {
  if (troubles.value[path] === word) return;
  const { [path]: _, ...others } = troubles.value;
  troubles.value = word === undefined ? others : { ...others, [path]: word };
}

const PROVE_EVERY = 60_000;

/** Reads the proof of the books each minute while the page is visible; all pages share one. */
export function watchProof(): void {
  void prove();
  setInterval(() => {
    if (!document.hidden) void prove();
  }, PROVE_EVERY);
}

/** Does nothing while no one is signed in. */
export async function prove(): Promise<void> {
  if (signedOut.value) return;
  try {
    const report = await get<Proof>("/audit/books?age=60");
    const fault = report.checks.find((check) => !check.holds);
    proof.value = { holds: report.holds, at: report.at ?? Date.now(), ...(fault && { fault: fault.detail }) };
  } catch {
    // A key that may not see it, or no answer: the last proof stays with its time.
  }
}
