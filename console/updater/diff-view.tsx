import type { DiffLine } from "../../src/contract/updater-page.ts";

const signs = { same: " ", added: "+", removed: "−" } as const;
const words = { same: "", added: "added: ", removed: "removed: " } as const;

/** What would change in the config file, line by line. */
export function DiffView({ file, lines }: { readonly file: string; readonly lines: readonly DiffLine[] }) {
  return (
    <figure style={{ margin: 0 }}>
      <figcaption className="quiet breaks" style={{ fontSize: "0.8125rem", marginBottom: "0.25rem" }}>
        Difference in <span className="mono">{file}</span>
      </figcaption>
      <ol className="diff">
        {lines.map(({ kind, line, text }) => (
          <li key={`${kind} ${line}`} className={kind}>
            <span className="quiet" aria-hidden>
              {line} {signs[kind]}
            </span>
            <code>
              <span className="unseen">{words[kind]}</span>
              {text}
            </code>
          </li>
        ))}
      </ol>
    </figure>
  );
}
