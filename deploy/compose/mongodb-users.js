// Run by MongoDB's image at its first start.
for (const user of ["carillon-master", "carillon-worker"]) {
  db.getSiblingDB("carillon").createUser({
    user,
    pwd: fs.readFileSync(`/run/carillon/${user}.password`, "utf8").trim(),
    roles: [{ role: "readWrite", db: "carillon" }],
  });
}
