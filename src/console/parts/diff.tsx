/** Removed and added lines: signs before the colours. */
import type { DiffLine } from "./diff-lines.ts";

const CLASSES = { " ": "same", "-": "del", "+": "add" } as const;

export function Diff({ lines, label }: { lines: readonly DiffLine[]; label: string }) {
  return (
    <pre class="code wrap diff" tabIndex={0} aria-label={label}>
      {lines.map(({ sign, text }, at) => (
        <span class={CLASSES[sign]} key={at}>
          <span class="pm">{sign}</span>
          {text}
        </span>
      ))}
    </pre>
  );
}
