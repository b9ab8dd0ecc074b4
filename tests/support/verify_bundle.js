// Checks bundles with the independent implementation of sigstore-js: node verify_bundle.js KEY.pub BUNDLE...
// Run where @sigstore/bundle and @sigstore/verify are installed. Prints `verified` or the error's code, a line each.
const fs = require("fs");
const crypto = require("crypto");
const { bundleFromJSON } = require("@sigstore/bundle");
const { Verifier, toSignedEntity } = require("@sigstore/verify");

const [key, ...bundles] = process.argv.slice(2);
const publicKey = crypto.createPublicKey(fs.readFileSync(key));
const trusted = {
  certificateAuthorities: [],
  timestampAuthorities: [],
  tlogs: [],
  ctlogs: [],
  publicKey: () => ({ publicKey, validFor: () => true }),
};
const verifier = new Verifier(trusted, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });

for (const path of bundles) {
  try {
    verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(fs.readFileSync(path)))));
    console.log("verified");
  } catch (error) {
    console.log(error.code ?? error.name);
  }
}
