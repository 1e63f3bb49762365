// Run by MongoDB's image at its first start. Workers only add, and replace what their runs use; the elected master
// deletes what is too old.
const carillon = db.getSiblingDB("carillon");
carillon.createRole({
  role: "carillonWorker",
  privileges: [
    { resource: { db: "carillon", collection: "" }, actions: ["find", "insert", "createIndex"] },
    { resource: { db: "carillon", collection: "usage" }, actions: ["update"] },
  ],
  roles: [],
});
for (const [user, role] of [["carillon-master", { role: "readWrite", db: "carillon" }], ["carillon-worker", "carillonWorker"]]) {
  carillon.createUser({
    user,
    pwd: fs.readFileSync(`/run/carillon/${user}.password`, "utf8").trim(),
    roles: [role],
  });
}
