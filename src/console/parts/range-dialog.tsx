/** Chooses a range of time with two ends, in local time or UTC. */
import { useState } from "preact/hooks";
import { setQuery } from "../data/location.ts";
import { lastMonth, readTime, writeTime, yesterday } from "../data/range.ts";
import { Button, Segments } from "./controls.tsx";
import { FormDialog, TextField } from "./form.tsx";

const ZONES = [
  ["local", "Local time"],
  ["utc", "UTC"],
] as const;

/** @param props.from milliseconds since 1970 @param props.to absent: the range goes on */
export function RangeDialog(props: { from: number; to: number | undefined; onClose: () => void }) {
  const [zone, setZone] = useState<"local" | "utc">("local");
  const isUtc = zone === "utc";
  const [from, setFrom] = useState(writeTime(props.from, false));
  const [to, setTo] = useState(props.to === undefined ? "" : writeTime(props.to, false));
  const [first, last] = [readTime(from, isUtc), to === "" ? undefined : readTime(to, isUtc)];
  const isRange = first !== undefined && (to === "" || (last !== undefined && last > first));
  const show = (from: number, to: number | undefined) => {
    setQuery({ range: undefined, from, to, open: undefined });
    props.onClose();
  };
  const turn = (next: "local" | "utc") => {
    if (first !== undefined) setFrom(writeTime(first, next === "utc"));
    if (last !== undefined) setTo(writeTime(last, next === "utc"));
    setZone(next);
  };
  return (
    <FormDialog
      title="Range"
      deed="Show"
      ready={isRange}
      busy={false}
      error={undefined}
      onDo={() => isRange && show(first, last)}
      onClose={props.onClose}
    >
      <div class="quick">
        <Button onClick={() => show(...yesterday(Date.now(), isUtc))}>Yesterday</Button>
        <Button onClick={() => show(...lastMonth(Date.now(), isUtc))}>Last month</Button>
        <Segments label="Time zone" options={ZONES} value={zone} onChoose={turn} />
      </div>
      <TextField
        label="From"
        placeholder="2026-11-24 09:00"
        data-first
        value={from}
        onChange={setFrom}
        error={first === undefined ? "A date and a time: 2026-11-24 09:00" : undefined}
      />
      <TextField
        label="To"
        placeholder="now"
        hint="Empty: until now"
        value={to}
        onChange={setTo}
        error={isRange || first === undefined ? undefined : "A later date and time, or nothing"}
      />
    </FormDialog>
  );
}
