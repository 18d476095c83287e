import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../../test/rig/any-text.ts";
import { pathOf, resolveEndpoint } from "./resolve-endpoint.ts";

const config = { kind: "endpoint", name: "diagnostics/interface/get_interface_config" };
const notFound = { kind: "not-found" };

describe("resolveEndpoint, row by row", () => {
  it.each([
    ["lower case", "/api/diagnostics/interface/getinterfaceconfig"],
    ["camel case", "/api/diagnostics/interface/getInterfaceConfig"],
    ["snake case", "/api/diagnostics/interface/get_interface_config"],
    ["upper case", "/api/diagnostics/interface/GETINTERFACECONFIG"],
    ["module in upper case", "/api/DIAGNOSTICS/interface/getInterfaceConfig"],
    ["controller with a capital first letter", "/api/diagnostics/Interface/getInterfaceConfig"],
    ["trailing /", "/api/diagnostics/interface/getinterfaceconfig/"],
    ["doubled //", "/api//diagnostics//interface//getinterfaceconfig"],
    ["doubled // in front", "//api/diagnostics/interface/getinterfaceconfig"],
    ["query string", "/api/diagnostics/interface/getinterfaceconfig?x=1"],
    ["query string with slashes and tricks", "/api/diagnostics/interface/getinterfaceconfig?x=/../%2e%00"],
    ["extra segment", "/api/diagnostics/interface/getinterfaceconfig/igb0"],
    ["many extra segments", "/api/diagnostics/interface/get_interface_config/a/b/c/api/x%20y"],
    ["the whole URL (RFC 9112, 3.2.2)", "https://fw.example:8443/api/diagnostics/interface/getinterfaceconfig"],
  ])("%s: found", (_, path) => {
    expect(resolveEndpoint(path)).toMatchObject(config);
  });

  it.each([
    ["controller in upper case", "/api/diagnostics/INTERFACE/getinterfaceconfig"],
    ["controller with an underscore", "/api/diagnostics/inter_face/getinterfaceconfig"],
    ["unknown module", "/api/diagnostic/interface/getinterfaceconfig"],
    ["unknown controller", "/api/diagnostics/interfaces/getinterfaceconfig"],
    ["unknown action", "/api/diagnostics/interface/getinterfaceconfigs"],
    ["no action", "/api/diagnostics/interface"],
    ["no controller", "/api/diagnostics/"],
    ["without /api", "/diagnostics/interface/getinterfaceconfig"],
    ["api in upper case", "/API/diagnostics/interface/getinterfaceconfig"],
    ["/api doubled", "/api/api/diagnostics/interface/getinterfaceconfig"],
    ["underscore in the module", "/api/diag_nostics/interface/getinterfaceconfig"],
    ["dot segments", "/api/x/../diagnostics/interface/getinterfaceconfig"],
    ["dot segments at the end", "/api/diagnostics/interface/getinterfaceconfig/.."],
    ["a single dot", "/api/./diagnostics/interface/getinterfaceconfig"],
    ["encoded dots", "/api/diagnostics/interface/getinterfaceconfig/%2E%2e/"],
    ["encoded slash", "/api/diagnostics%2finterface/getinterfaceconfig"],
    ["encoded slash after the action", "/api/diagnostics/interface/getinterfaceconfig%2F"],
    ["encoded letter", "/api/diagnostics/interface/%67etinterfaceconfig"],
    ["encoded nul", "/api/diagnostics/interface/getinterfaceconfig%00"],
    ["backslash", "/api\\diagnostics\\interface\\getinterfaceconfig"],
    ["letters that only look alike", "/api/diagnostıcs/interface/getinterfaceconfig"],
    ["letters that fold in Unicode only", "/api/diagnosticſ/interface/getinterfaceconfig"],
    ["asterisk form", "*"],
    ["empty", ""],
    ["root", "/"],
  ])("%s: not found", (_, path) => {
    expect(resolveEndpoint(path)).toEqual(notFound);
  });

  it.each(["/api", "/api/", "/api//", "/api/?x=1"])("/api/ alone: %s", (path) => {
    expect(resolveEndpoint(path)).toEqual({ kind: "api-root" });
  });
});

describe("resolveEndpoint, laws", () => {
  it("never throws, and ignores the query", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (path, query) => {
        expect(resolveEndpoint(`/${path}?${query}`)).toEqual(resolveEndpoint(`/${path}`));
      }),
    );
  });

  it("ignores the case and underscores of the action", () => {
    const letters = Array.from("getinterfaceconfig").map((letter) =>
      fc.constantFrom(letter, letter.toUpperCase(), `_${letter}`, `_${letter.toUpperCase()}`),
    );
    fc.assert(
      fc.property(fc.tuple(...letters), (spelling) => {
        expect(resolveEndpoint(`/api/diagnostics/interface/${spelling.join("")}`)).toMatchObject(config);
      }),
    );
  });
});

describe("pathOf", () => {
  it.each([
    ["/a/b?c=d", "/a/b"],
    ["/a//b/#c", "/a//b/"],
    ["https://fw.example/a?b", "/a"],
    ["https://fw.example", ""],
  ])("%s → %s", (target, path) => {
    expect(pathOf(target)).toBe(path);
  });
});
