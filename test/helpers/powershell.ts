/** Reads a PowerShell script as far as its brackets, texts and tables go. It is no parser: only `pwsh` knows whether a script runs. */

const PAIRS: Readonly<Record<string, string>> = { ")": "(", "}": "{", "]": "[" };

/** @returns one sentence for each fault: brackets and quotes without an end, and names that a table has twice */
export function faultsOf(script: string): string[] {
  const faults: string[] = [];
  const open: { sign: string; line: number; names?: Set<string> }[] = [];
  let line = 1;
  for (let at = 0; at < script.length; at++) {
    const sign = script[at]!;
    if (sign === "\n") line++;
    else if (sign === "`") at++;
    else if (sign === "#" && /[\s{(;]|^$/.test(script[at - 1] ?? "")) {
      at = endOf(script, "\n", at) - 1;
    } else if (sign === "'" || sign === '"') {
      const end = closing(script, sign, at);
      if (end < 0) return [...faults, `line ${line}: a text has no end`];
      const table = open.at(-1)?.names;
      if (table && /^\s*=(?!=)/.test(script.slice(end + 1, end + 20))) {
        // Names of tables are the same in upper and lower case.
        const name = script.slice(at + 1, end).toLowerCase();
        if (table.has(name)) faults.push(`line ${line}: the table has ${name} twice`);
        table.add(name);
      }
      line += script.slice(at, end).split("\n").length - 1;
      at = end;
    } else if ("({[".includes(sign)) {
      const isTable = sign === "{" && script[at - 1] === "@";
      open.push({ sign, line, ...(isTable && { names: new Set<string>() }) });
    } else if (PAIRS[sign] !== undefined && open.pop()?.sign !== PAIRS[sign])
      faults.push(`line ${line}: ${sign} closes nothing`);
  }
  return [...faults, ...open.map((one) => `line ${one.line}: ${one.sign} is not closed`)];
}

function endOf(script: string, sign: string, from: number): number {
  const end = script.indexOf(sign, from);
  return end < 0 ? script.length : end;
}

/** The end of a text. A quote in it is written twice; in double quotes a backtick escapes. @returns -1 without one */
function closing(script: string, quote: string, from: number): number {
  for (let at = from + 1; at < script.length; at++) {
    if (script[at] === "`" && quote === '"') at++;
    else if (script[at] === quote && script[at + 1] === quote) at++;
    else if (script[at] === quote) return at;
  }
  return -1;
}
