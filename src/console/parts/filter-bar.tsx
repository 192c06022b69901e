/** The filter box with its chips, and the switches beside it. Filters live in the address. */
import type { TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import { type ApiError, queryOf } from "../data/api.ts";
import {
  FILTERS,
  type FilterName,
  type Filters,
  filtersOf,
  readFilters,
  SWITCHES,
  typedPart,
} from "../data/filters.ts";
import { query, setQuery } from "../data/location.ts";
import { countedBy, countsIn, suggestionsFor } from "../data/names.ts";
import { rangeOf } from "../data/range.ts";
import type { usage as getUsage } from "../data/types.ts";
import { useApi } from "../data/use-api.ts";
import { counted } from "../numbers/counts.ts";
import { Button } from "./controls.tsx";
import { Icon, Mark } from "./icons.tsx";

const HINT = "key:ci-bot  model:gpt-5.4  outcome:failed  req_…";

/** The filter that an answer of 400 is about. */
function faultyIn({ path = "" }: ApiError, filters: Filters): FilterName | undefined {
  const name = path.replace(/^\?/, "");
  return FILTERS.find((one) => one === name && filters[one] !== undefined);
}

/** Changes a filter: the open call is closed, because it may not match any more. */
function change(values: Partial<Record<FilterName, string | undefined>>): void {
  setQuery({ ...values, open: undefined });
}

/**
 * @param props.switches the switches beside the box; default true
 * @param props.fault why weir does not read the filter
 */
export function FilterBar({ switches = true, fault }: { switches?: boolean; fault?: ApiError | undefined }) {
  const filters = filtersOf(query.value);
  const faulty = fault && faultyIn(fault, filters);
  const chips = FILTERS.flatMap((name) =>
    filters[name] === undefined ? [] : [[name, filters[name]] as const],
  );
  return (
    <div class="filter" role="search" aria-label="Calls">
      <div class={fault ? "box bad" : "box"}>
        <Icon name="search" />
        {chips.map(([name, value]) => (
          <span class={name === faulty ? "chip bad" : "chip"} key={name}>
            <span class="clip">
              {name === "q" ? "" : `${name.replace("-", "not ")} `}
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
        {fault && (
          <Mark state="bad">
            <span class="why clip" role="alert" title={fault.message}>
              {fault.message.replace(/^\?(\S+):/, "$1:")}
            </span>
          </Mark>
        )}
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

/** A value with spaces in quotation marks. */
function quoted(suggestion: string): string {
  const [, name = "", value = ""] = /^([^:]+:)(.*)$/.exec(suggestion) ?? [];
  return value.includes(" ") ? `${name}"${value}"` : suggestion;
}

const NO_COUNTS: ReadonlyMap<string, number> = new Map();

/** How many calls of the range of the page each suggestion has. */
function useCounts(part: string): ReadonlyMap<string, number> {
  const by = countedBy(part);
  const { from, to } = rangeOf(query.value);
  const reading = useApi<typeof getUsage>(by && `/usage${queryOf({ by, from, to })}`);
  return by && reading.data ? countsIn(reading.data, by) : NO_COUNTS;
}

function FilterInput({ last, hint }: { last: FilterName | undefined; hint: string }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(-1);
  const [before, part] = typedPart(text);
  const found = part === "" ? [] : suggestionsFor(part);
  const counts = useCounts(found.length > 0 ? part : "");
  const whole = (suggestion: string) => before + quoted(suggestion);
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
    else if (event.key === "Enter") apply(found[chosen] === undefined ? text : whole(found[chosen]));
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
                apply(whole(suggestion));
              }}
            >
              {suggestion}
              {counts.has(suggestion.replace(/^-/, "")) && (
                <span class="dim"> {counted(counts.get(suggestion.replace(/^-/, ""))!, "call")}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
