/** The dialog for the rate limits of a key's own. */
import { useState } from "preact/hooks";
import type { Key, Rate } from "../../data/types.ts";
import { FormDialog, TextField } from "../../parts/form.tsx";
import { toast } from "../../parts/toasts.tsx";
import { readCount } from "./key-words.ts";
import { useWrite } from "../../data/use-write.ts";

/** The units that the dialog offers. A limit in another unit stays as it is. */
const UNITS = [
  ["rpm", "Calls a minute"],
  ["tpm", "Tokens a minute"],
  ["concurrency", "Calls at once"],
] as const;

interface Props {
  entry: Key;
  /** The stored limit on the key. */
  rate: Rate | undefined;
  onClose: () => void;
  onDone: () => void;
}

export function RateDialog({ entry, rate, onClose, onDone }: Props) {
  const [texts, setTexts] = useState(() =>
    Object.fromEntries(UNITS.map(([unit]) => [unit, String(rate?.limits[unit] ?? "")])),
  );
  const { busy, error, run } = useWrite<Rate>();
  const isWrong = (unit: string) => texts[unit]!.trim() !== "" && !readCount(texts[unit]!);
  const save = async () => {
    const limits = Object.fromEntries(
      Object.entries({ ...rate?.limits, ...texts })
        .map(([unit, limit]) => [unit, readCount(String(limit))] as const)
        .filter(([, limit]) => limit !== undefined),
    );
    const to = `/rates/${encodeURIComponent(rate?.id ?? "")}`;
    const isEmpty = Object.keys(limits).length === 0;
    const on = { kind: "key", what: entry.id };
    const done = !rate
      ? await run("POST", "/rates", { body: { name: entry.name, on, limits } })
      : isEmpty
        ? await run("DELETE", to)
        : await run("PATCH", to, { body: { limits }, version: rate.version });
    if (!done) return;
    toast(`${entry.name}: ${isEmpty ? "no limit of its own" : "limits in force in all workers"}.`);
    onDone();
  };
  return (
    <FormDialog
      title={`Limits of ${entry.name}`}
      deed="Save"
      ready={
        UNITS.every(([unit]) => !isWrong(unit)) && (!!rate || UNITS.some(([unit]) => readCount(texts[unit]!)))
      }
      {...{ busy, error, onClose }}
      onDo={save}
    >
      {UNITS.map(([unit, label], index) => (
        <TextField
          key={unit}
          label={label}
          value={texts[unit]!}
          onChange={(text) => setTexts({ ...texts, [unit]: text })}
          placeholder="no limit"
          inputMode="numeric"
          data-first={index === 0}
          error={isWrong(unit) ? "A whole number." : undefined}
        />
      ))}
    </FormDialog>
  );
}
