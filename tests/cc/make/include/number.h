typedef double number;
