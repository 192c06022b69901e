/** A JSON value whose objects and lists fold. What is folded is not in the page. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./controls.tsx";
import { LongText } from "./raw.tsx";

/** Deeper and larger parts begin folded. */
const OPEN_DEPTH = 5;
const OPEN_MEMBERS = 40;
/** Members that are drawn at first. */
const FIRST = 200;

export function JsonTree({ value, label }: { value: unknown; label: string }) {
  return (
    <div class="code wrap tree" tabIndex={0} role="group" aria-label={label}>
      <Node value={value} depth={0} />
    </div>
  );
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const isList = Array.isArray(value);
  const members =
    typeof value === "object" && value !== null ? Object.entries(value as Record<string, unknown>) : [];
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && members.length <= OPEN_MEMBERS);
  const [most, setMost] = useState(FIRST);
  const key = name !== undefined && <span class="k">{JSON.stringify(name)}: </span>;
  if (members.length === 0)
    return (
      <div>
        {key}
        <Leaf value={value} />
      </div>
    );
  const [begin, end] = isList ? "[]" : "{}";
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {key}
        {begin}
        {!isOpen && (
          <>
            <span class="p">…{members.length}</span>
            {end}
          </>
        )}
      </summary>
      {isOpen && (
        <>
          <div class="in">
            {members.slice(0, most).map(([member, inner]) => (
              <Node key={member} value={inner} depth={depth + 1} {...(!isList && { name: member })} />
            ))}
            {members.length > most && (
              <Button onClick={() => setMost(most * 10)}>{members.length - most} more</Button>
            )}
          </div>
          {end}
        </>
      )}
    </details>
  );
}

function Leaf({ value }: { value: unknown }): ComponentChildren {
  const text = JSON.stringify(value) ?? "null";
  if (typeof value !== "string") return <span class="n">{text}</span>;
  return (
    <span class="s">
      <LongText text={text} />
    </span>
  );
}
