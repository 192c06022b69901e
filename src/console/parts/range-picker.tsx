/** The range of time of a page, in its address. */
import { useState } from "preact/hooks";
import { query, setQuery } from "../data/location.ts";
import { RANGES, rangeOf } from "../data/range.ts";
import { minute } from "../numbers/times.ts";
import { Button, Segments } from "./controls.tsx";
import { RangeDialog } from "./range-dialog.tsx";

export function RangePicker({ usual = "24h" }: { usual?: string }) {
  const range = rangeOf(query.value, usual);
  const [isOpen, setOpen] = useState(false);
  const back = () => setQuery({ from: undefined, to: undefined });
  return (
    <>
      {range.name === undefined && (
        <Button kind="quiet" onClick={back} title="Back to a range that ends now">
          {minute(range.from)} to {range.to === undefined ? "now" : minute(range.to)} ×
        </Button>
      )}
      <Segments
        label="Range"
        class={range.name === undefined ? "range other" : "range"}
        options={RANGES}
        value={range.name}
        onChoose={(name) =>
          setQuery({ range: name === usual ? undefined : name, from: undefined, to: undefined })
        }
      />
      <Button kind="quiet" title="From … to …" onClick={() => setOpen(true)}>
        From…
      </Button>
      {isOpen && <RangeDialog from={range.from} to={range.to} onClose={() => setOpen(false)} />}
    </>
  );
}
