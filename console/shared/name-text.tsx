import { Fragment } from "react";
import { nameToUnicode } from "../../src/core/names/unicode.ts";

/** A domain name that breaks after its dots, if it must break. */
export const NameText = ({ name }: { readonly name: string }) =>
  nameToUnicode(name)
    .split(/(?<=\.)/)
    .map((label, i) => (
      // oxlint-disable-next-line react/no-array-index-key -- labels repeat, and their order never changes
      <Fragment key={i}>
        {i > 0 && <wbr />}
        {label}
      </Fragment>
    ));
