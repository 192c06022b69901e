/** Text exactly as it was sent: JSON with three colours, and long text in parts. It is always a text node. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { bytes } from "../numbers/bytes.ts";
import { Button } from "./controls.tsx";

/** Longer text is shown without colours: each coloured piece is an element. Characters. */
const MAX_COLOURED = 60_000;
/** The part of a text that a page shows at first. Characters. */
const FIRST = 200_000;

const PIECES = /("(?:[^"\\]|\\.)*"(?:\s*:)?|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b|\b(?:true|false|null)\b)/;

function coloured(text: string): ComponentChildren {
  return text.split(PIECES).map((piece, at) => {
    if (at % 2 === 0) return piece;
    const look = piece.endsWith(":") ? "k" : piece.startsWith('"') ? "s" : "n";
    return <span class={look}>{piece}</span>;
  });
}

/** Text of any length: the first part, and a button for the rest. */
export function LongText({
  text,
  children,
}: {
  text: string;
  children?: (shown: string) => ComponentChildren;
}) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole || text.length <= FIRST ? text : text.slice(0, FIRST);
  return (
    <>
      {children ? children(shown) : shown}
      {shown.length < text.length && (
        <Button class="show-all" onClick={() => setWhole(true)}>
          Show all of it, {bytes(text.length)}
        </Button>
      )}
    </>
  );
}

export function Raw({ text, json = false, label }: { text: string; json?: boolean; label: string }) {
  return (
    <LongText text={text}>
      {(shown) => (
        <pre class="code wrap" tabIndex={0} aria-label={label}>
          {json && shown.length <= MAX_COLOURED ? coloured(shown) : shown}
        </pre>
      )}
    </LongText>
  );
}

/** A value as indented JSON. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return <Raw text={JSON.stringify(value, null, 2) ?? "null"} json label={label} />;
}
