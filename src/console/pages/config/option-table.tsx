/** Options with value and source. */
import { setQuery } from "../../data/location.ts";
import type { ConfigOption } from "../../data/types.ts";
import { Heads } from "../../parts/heads.tsx";
import { showSource, showValue, valueLines } from "./options.ts";

export function OptionTable({ options }: { options: readonly ConfigOption[] }) {
  return (
    <div class="scroll">
      <table class="tbl wraps options">
        <Heads of={[["Option"], ["Value"], ["From"]]} />
        <tbody>
          {options.map((option) => (
            <Row key={option.path} option={option} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ option }: { option: ConfigOption }) {
  const { path, value, isDefault } = option;
  const usual = option.default === undefined ? "" : `Default: ${showValue(option.default)}`;
  const places = option.source === "file" ? (option.where ?? "").split(", ") : [];
  return (
    <tr>
      <td>
        <code>{path}</code>
      </td>
      <td class={isDefault ? "mid" : ""} title={usual}>
        {value === undefined || value === null ? <span class="dim">not set</span> : <Value value={value} />}
      </td>
      <td class="dim">
        {places.length === 0 && showSource(option)}
        {places.map((where) => (
          <div key={where}>
            <button type="button" class="linkish fig" onClick={() => setQuery({ file: where })}>
              {showSource({ ...option, where })}
            </button>
          </div>
        ))}
      </td>
    </tr>
  );
}

function Value({ value }: { value: unknown }) {
  const lines = valueLines(value);
  if (lines.length > 1) return <pre>{lines.join("\n")}</pre>;
  return lines[0] === "" ? <span class="dim">empty</span> : <>{lines[0]}</>;
}
