struct particle {
  float x, y, z, vx, vy, vz, mass, age;
} all[40000];

void kernel(void) {
  for (int t = 0; t < 4; t++)
    for (int i = 0; i < 40000; i++) {
      all[i].vz -= 0.01f * all[i].mass;
      all[i].x += 0.1f * all[i].vx;
      all[i].y += 0.1f * all[i].vy;
      all[i].z += 0.1f * all[i].vz;
      all[i].age += 0.1f;
    }
}
