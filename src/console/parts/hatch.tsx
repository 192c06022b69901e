/** Hatched fills for what is uncertain. A pattern has one colour, because it does not inherit from the shape that uses it. */

const COLOURS = ["td", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "c-warn", "c-bad"] as const;
export type HatchColour = (typeof COLOURS)[number];

/** For `fill`. */
export const hatch = (colour: HatchColour) => `url(#hatch-${colour})`;

export function HatchPatterns() {
  return (
    <svg width="0" height="0" class="vh" aria-hidden="true">
      <defs>
        {COLOURS.map((colour) => (
          <pattern
            key={colour}
            id={`hatch-${colour}`}
            class={colour}
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="2.2" height="5" fill="currentColor" />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}
