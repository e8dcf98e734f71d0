unsigned char a[900], b[1100];
int d[901][1101];

void kernel(void) {
  for (int i = 0; i <= 900; i++) d[i][0] = i;
  for (int j = 0; j <= 1100; j++) d[0][j] = j;
  for (int i = 1; i <= 900; i++)
    for (int j = 1; j <= 1100; j++) {
      int m = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      m = d[i - 1][j] + 1 < m ? d[i - 1][j] + 1 : m;
      d[i][j] = d[i][j - 1] + 1 < m ? d[i][j - 1] + 1 : m;
    }
}
