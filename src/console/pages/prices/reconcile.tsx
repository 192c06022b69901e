/** A provider's invoice against the books: the difference, split into its causes. */
import type { Invoices, listInvoices, Reconciliation, UsageReport } from "../../data/types.ts";
import { useState } from "preact/hooks";
import { readOnly } from "../../data/session.ts";
import { useApi } from "../../data/use-api.ts";
import { useWrite } from "../../data/use-write.ts";
import { dollars, exactDollars, lineOf, placesOf, readDollars } from "../../numbers/money.ts";
import { Button, Fault, Figure } from "../../parts/controls.tsx";
import { Suggestions, TextField } from "../../parts/form.tsx";
import { Panel } from "../../parts/panel.tsx";
import { monthBefore, monthRange } from "./arithmetic.ts";

export function ReconcilePanel({ used }: { used: UsageReport | undefined }) {
  const invoices = useApi<typeof listInvoices>("/invoices");
  const [provider, setProvider] = useState<string | undefined>(undefined);
  const [month, setMonth] = useState(monthBefore(Date.now()));
  const [amount, setAmount] = useState("");
  const [fault, setFault] = useState<string | undefined>(undefined);
  const [result, setResult] = useState<Reconciliation | undefined>(undefined);
  const { busy, error, run } = useWrite<Reconciliation>();
  const providers = providersOf(used, invoices.data);
  const chosen = provider ?? providers[0] ?? "";

  const compare = async (body: { provider: string; month: string; amount: number }) => {
    setFault(undefined);
    const compared = await run("POST", "/invoices", { body });
    if (!compared) return;
    setResult(compared);
    invoices.again();
  };
  const submit = () => {
    const nano = readDollars(amount);
    if (chosen === "") setFault("Name the provider.");
    else if (!monthRange(month)) setFault("Write the month: 2026-11.");
    else if (nano === undefined) setFault("Write the sum in dollars: 412.33.");
    else void compare({ provider: chosen, month, amount: nano });
  };
  return (
    <Panel title="Invoice against the books" busy={busy}>
      <form
        class="body stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div class="three">
          <TextField
            label="Provider"
            list="reconcile-providers"
            value={chosen}
            // A default that arrives later would mix with what is being typed.
            onFocus={() => setProvider(chosen)}
            onChange={(text) => setProvider(text.trim())}
          />
          <Suggestions id="reconcile-providers" of={providers} />
          <TextField
            label="Month, UTC"
            value={month}
            placeholder="2026-11"
            onChange={(text) => setMonth(text.trim())}
          />
          <TextField
            label="Sum of the invoice"
            inputMode="decimal"
            value={amount}
            placeholder="412.33"
            onChange={setAmount}
          />
        </div>
        <Fault of={fault ?? error?.message} />
        <div class="acts">
          <Button type="submit" why={readOnly()} disabled={busy}>
            Compare
          </Button>
        </div>
        {result && <Difference result={result} />}
        {invoices.data && invoices.data.invoices.length > 0 && (
          <Earlier invoices={invoices.data.invoices} onChoose={(invoice) => void compare(invoice)} />
        )}
      </form>
    </Panel>
  );
}

function providersOf(used: UsageReport | undefined, invoices: Invoices | undefined): string[] {
  const costs = new Map<string, number>();
  for (const { group, cost } of used?.rows ?? [])
    if (group["provider"]) costs.set(group["provider"], (costs.get(group["provider"]) ?? 0) + cost);
  const names = [...costs].toSorted((a, b) => b[1] - a[1]).map(([name]) => name);
  return [...new Set([...names, ...(invoices?.invoices.map((one) => one.provider) ?? [])])];
}

/** Lines that add up: each has as many decimals as the exact amounts need. */
function Difference({ result }: { result: Reconciliation }) {
  const { provider, month, invoiced, booked, difference } = result;
  const causes = result.causes.filter(({ amount }) => amount !== 0);
  const places = placesOf([invoiced, booked, difference, ...causes.map(({ amount }) => amount)]);
  const line = (nano: number, sign = false) => (
    <td class="num" title={exactDollars(nano)}>
      {sign && nano > 0 ? "+" : ""}
      {lineOf(nano, places)}
    </td>
  );
  return (
    <>
      <table class="ledger" aria-label={`Invoice of ${provider} for ${month}`}>
        <tbody>
          <tr>
            <td>invoice</td>
            {line(invoiced)}
          </tr>
          <tr>
            <td>
              <Figure query={{ provider, ...monthRange(month) }}>the books</Figure>
            </td>
            {line(booked)}
          </tr>
          <tr class="sum">
            <td>difference</td>
            {line(difference, true)}
          </tr>
        </tbody>
      </table>
      {causes.length === 0 ? (
        <p class="mid">Nothing is left to explain.</p>
      ) : (
        <table class="ledger" aria-label="Causes of the difference">
          <tbody>
            {causes.map(({ name, amount, detail }) => (
              <tr key={name}>
                <td>
                  {name}
                  <div class="dim">{detail}</div>
                </td>
                {line(amount, true)}
              </tr>
            ))}
            <tr class="sum">
              <td>difference</td>
              <td class="num money-end">
                {difference > 0 ? "+" : ""}
                {lineOf(difference, places)}
              </td>
            </tr>
          </tbody>
        </table>
      )}
    </>
  );
}

function Earlier(props: {
  invoices: Invoices["invoices"];
  onChoose: (invoice: Invoices["invoices"][number]) => void;
}) {
  const newest = props.invoices.toSorted((a, b) => b.month.localeCompare(a.month));
  return (
    <div>
      <h3>Compared before</h3>
      <ul class="earlier">
        {newest.map((invoice) => (
          <li key={`${invoice.provider} ${invoice.month}`}>
            <button
              type="button"
              class="btn quiet"
              disabled={readOnly() !== undefined}
              onClick={() => props.onChoose(invoice)}
            >
              {invoice.provider}, {invoice.month}: {dollars(invoice.amount)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
