/** The sentence of the page: what caching saved, what broken prefixes cost, and most of that. */
import type { CacheReport } from "../../data/types.ts";
import { counted, percent } from "../../numbers/counts.ts";
import { Money } from "../../parts/numbers.tsx";
import { CauseWords } from "./cause.tsx";
import { type Group, nameOf } from "./groups.tsx";
import { readShare } from "./reasons.ts";

/** A row that lost more than this share is most of the loss. */
const MOST = 0.5;

export function Said({ report: { total, rows }, by }: { report: CacheReport; by: Group }) {
  const { saved, breaks, lostCost } = total;
  const worst = rows.toSorted((a, b) => b.lostCost - a.lostCost)[0];
  const isMost = worst !== undefined && by !== "day" && rows.length > 1 && worst.lostCost > lostCost * MOST;
  const cause = isMost || rows.length === 1 ? worst?.commonest : undefined;
  return (
    <p class="say">
      {saved < 0 ? "Writing to caches cost " : "Caching saved "}
      <b>
        <Money nano={Math.abs(saved)} />
      </b>
      {saved < 0 && " more than reading from them saved"}: {percent(readShare(total))} of all prompt tokens
      were read from a cache.{" "}
      {breaks === 0 ? (
        "No prompt was broken."
      ) : (
        <>
          {counted(breaks, "broken prefix", "broken prefixes")} cost{" "}
          <b>
            <Money nano={lostCost} />
          </b>
          .
          {isMost && (
            <>
              {" "}
              Most of that is <b>{nameOf(worst, by)}</b>
            </>
          )}
          {cause && (
            <>
              {isMost ? ", because " : " Commonest: "}
              <CauseWords cause={cause} />
            </>
          )}
          {(isMost || cause) && "."}
        </>
      )}
    </p>
  );
}
