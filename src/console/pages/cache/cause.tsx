/** Why a prompt was not read from a cache: the section as code, the rest as words. */
import type { CacheBreak } from "../../data/types.ts";
import { WHOLE, wordsOf } from "./reasons.ts";

export function CauseWords({ cause }: { cause: Pick<CacheBreak, "reason" | "section"> }) {
  return (
    <>
      {cause.section ? <code>{cause.section}</code> : WHOLE} {wordsOf(cause)}
    </>
  );
}
