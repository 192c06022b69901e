/** The filter box with its chips, and the switches beside it. Filters live in the address. */
import type { TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import { FILTERS, type FilterName, filtersOf, readFilters, SWITCHES } from "../data/filters.ts";
import { query, setQuery } from "../data/location.ts";
import { suggestionsFor } from "../data/names.ts";
import { Button } from "./controls.tsx";
import { Icon } from "./icons.tsx";

const HINT = "key:ci-bot  model:gpt-5.4  outcome:failed  req_…";

/** Changes a filter: the open call is closed, because it may not match any more. */
function change(values: Partial<Record<FilterName, string | undefined>>): void {
  setQuery({ ...values, open: undefined });
}

/** @param props.switches the switches beside the box; default true */
export function FilterBar({ switches = true }: { switches?: boolean }) {
  const filters = filtersOf(query.value);
  const chips = FILTERS.flatMap((name) =>
    filters[name] === undefined ? [] : [[name, filters[name]] as const],
  );
  return (
    <div class="filter" role="search" aria-label="Calls">
      <div class="box">
        <Icon name="search" />
        {chips.map(([name, value]) => (
          <span class="chip" key={name}>
            <span class="clip">
              {name === "q" ? "" : `${name} `}
              <b>{value}</b>
            </span>
            <button
              type="button"
              aria-label={`Remove filter ${name} ${value}`}
              onClick={() => change({ [name]: undefined })}
            >
              ×
            </button>
          </span>
        ))}
        <FilterInput last={chips.at(-1)?.[0]} hint={chips.length === 0 ? HINT : ""} />
        <kbd class="w3">/</kbd>
      </div>
      {switches && (
        <div class="quick">
          {SWITCHES.map(([text, name, value]) => (
            <Button
              key={text}
              aria-pressed={filters[name] === value}
              onClick={() => change({ [name]: filters[name] === value ? undefined : value })}
            >
              {text}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

function FilterInput({ last, hint }: { last: FilterName | undefined; hint: string }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(-1);
  const found = text === "" ? [] : suggestionsFor(text);
  const apply = (given: string) => {
    const filters = readFilters(given);
    if (Object.keys(filters).length === 0) return;
    change(filters);
    setText("");
    setChosen(-1);
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && found.length > 0) setChosen(Math.max(-1, Math.min(found.length - 1, chosen + step)));
    else if (event.key === "Enter") apply(found[chosen] ?? text);
    else if (event.key === "Backspace" && text === "" && last !== undefined) change({ [last]: undefined });
    else if (event.key === "Escape") {
      if (text === "") event.currentTarget.blur();
      setText("");
    } else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        id="filter"
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-label="Filter calls"
        aria-expanded={found.length > 0}
        aria-controls="suggestions"
        {...(chosen >= 0 && { "aria-activedescendant": `suggestion${chosen}` })}
        placeholder={hint}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(-1);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setChosen(-1)}
      />
      {found.length > 0 && (
        <ul class="suggest" id="suggestions" role="listbox" aria-label="Suggestions">
          {found.map((suggestion, at) => (
            <li
              key={suggestion}
              id={`suggestion${at}`}
              role="option"
              class="clip"
              aria-selected={at === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                apply(suggestion);
              }}
            >
              {suggestion}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
