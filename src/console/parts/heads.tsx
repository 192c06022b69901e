/** The head of a table. */

/** A title with the classes of its column; `?Share` is only for screen readers. */
export type Head = readonly [title: string, look?: string];

export function Heads({ of }: { of: readonly Head[] }) {
  return (
    <thead>
      <tr>
        {of.map(([title, look = ""]) => (
          <th scope="col" class={look} key={title}>
            {title.startsWith("?") ? <span class="vh">{title.slice(1)}</span> : title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
