/** Why a prompt was not read from a cache: the section as code, the rest as words. */
import type { CacheBreak } from "../../data/types.ts";
import { wordsOf } from "./reasons.ts";

export function CauseWords({ cause }: { cause: Pick<CacheBreak, "reason" | "section"> }) {
  const { section, words } = wordsOf(cause);
  return (
    <>
      {section !== undefined && (
        <>
          <code>{section}</code>{" "}
        </>
      )}
      {words}
    </>
  );
}
