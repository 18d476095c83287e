import { expect, it } from "vitest";
import { signAws } from "./sign-aws.ts";

/** The case "get-vanilla" of the test suite that AWS published. */
it("signs as AWS does", () => {
  const request = { method: "GET", host: "example.amazonaws.com", path: "/", query: "", body: "" };
  const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
  const key = { id: "AKIDEXAMPLE", secret, region: "us-east-1", service: "service" };
  expect(signAws(request, key, Date.UTC(2015, 7, 30, 12, 36, 0))).toEqual({
    "x-amz-date": "20150830T123600Z",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  });
});
