/** The head of a table. */
import { SortHead } from "./sort.tsx";

/** A title with the classes of its column, and the order that it gives; `?Share` is only for screen readers. */
export type Head = readonly [title: string, look?: string, by?: string];

export function Heads({ of }: { of: readonly Head[] }) {
  return (
    <thead>
      <tr>
        {of.map(([title, look = "", by]) =>
          by === undefined ? (
            <th scope="col" class={look} key={title}>
              {title.startsWith("?") ? <span class="vh">{title.slice(1)}</span> : title}
            </th>
          ) : (
            <SortHead by={by} look={look} key={title}>
              {title}
            </SortHead>
          ),
        )}
      </tr>
    </thead>
  );
}
