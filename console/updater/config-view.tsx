import { Code } from "@mantine/core";
import type { ShownConfig } from "../../src/contract/updater-page.ts";
import { ListTable } from "../shared/list-table.tsx";
import { Problem } from "../shared/live/problem.tsx";
import { KindText } from "./kind-text.tsx";
import { useShownConfig } from "./use-shown-config.ts";

/** The config as the updater reads it, without secrets: the updater does not send them. */
export default function ConfigView({ mayChange }: { readonly mayChange: boolean }) {
  const found = useShownConfig();
  const config = found.data;
  if (config === undefined) return <Problem error={found.error} />;
  return (
    <details>
      <summary style={{ cursor: "pointer", fontWeight: 600 }}>Active config</summary>
      <p>
        Read from <span className="mono">{config.file}</span>; {config.rhythm}; last addresses stored in{" "}
        <span className="mono">{config.stateFile}</span>.
      </p>
      {!mayChange && (
        <p>
          To add and change names on this page, set a password: <Code>password: {"{ file: … }"}</Code> in{" "}
          <Code>control:</Code>.
        </p>
      )}
      <ListTable heads={["What", "Name", "Where", "Trust", "Secret"]}>
        {peersOf(config).map(({ id, what, name, where, trust, secret }) => (
          <tr key={`${id} ${name} ${where}`}>
            <td data-label="What">{what}</td>
            <td data-label="Name">{name}</td>
            <td data-label="Where" className="mono">
              {where}
            </td>
            <td data-label="Trust">{trust}</td>
            <td data-label="Secret">{secret}</td>
          </tr>
        ))}
      </ListTable>
      <ListTable heads={["Record", "From", "Written to", "Rules"]}>
        {config.names.map(({ name, from, to, rules }) => (
          <tr key={name}>
            <td data-label="Record" className="mono">
              {name}
            </td>
            <td data-label="From">{from}</td>
            <td data-label="Written to">{to}</td>
            <td data-label="Rules">{rules || "—"}</td>
          </tr>
        ))}
      </ListTable>
    </details>
  );
}

/** The services that the updater talks to; only those that `names` refers to have a name. */
const peersOf = ({ sources, targets, others }: ShownConfig) => [
  ...sources.map(({ kind, called, url, key, ...source }) => ({
    ...source,
    id: kind,
    what: (
      <>
        source: <KindText name={called} code={kind} />
      </>
    ),
    where: url,
    secret: key,
  })),
  ...targets.map(({ url, token, api, called, ...target }) => ({
    ...target,
    id: api,
    what: (
      <>
        record service: <KindText name={called} code={api} />
      </>
    ),
    where: url,
    secret: token,
  })),
  ...others.map((other) => ({ ...other, id: other.what, name: "—" })),
];
