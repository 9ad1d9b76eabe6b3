enum { WIDTH = 64, ROWS = 64 };
