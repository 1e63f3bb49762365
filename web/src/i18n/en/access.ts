export const access = {
  access: { title: 'Access' },
};
